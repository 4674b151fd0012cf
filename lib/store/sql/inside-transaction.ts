/** True while the code that runs was called from inside a writing transaction's function. */
import { AsyncLocalStorage } from "node:async_hooks";

export const insideTransaction = new AsyncLocalStorage<true>();
