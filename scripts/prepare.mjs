/**
 * After `npm ci`: the two database clients and dist/ (the `lockstep` command), so that both exist without another step.
 */
import { buildBin, generateClients } from "./steps.mjs";

generateClients();
buildBin();
