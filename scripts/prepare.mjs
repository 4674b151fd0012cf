/**
 * After `npm ci`: the two database clients and dist/ (the `lockstep` command, and what programs import with its types), so that
 * both exist without another step.
 */
import { buildBin, buildTypes, generateClients } from "./steps.mjs";

generateClients();
buildBin();
buildTypes();
