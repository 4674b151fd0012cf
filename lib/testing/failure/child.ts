/**
 * Processes for a test: bundled once, started, spoken to, killed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { must } from "@/lib/base/assert";
import type { Runtime } from "@/lib/runtime/runtime";
import { bundleProgram, nodeFlags } from "@/lib/testing/program";
import type { ProcessOptions } from "./process";

/** What a call came to; null: the process ended before it answered. */
export type Answer<T = Record<string, unknown>> =
  | { result: T; code?: undefined }
  | { code: string; message: string; details?: Record<string, unknown>; retry?: string; result?: undefined }
  | null;
type Verb = Exclude<keyof Runtime, "subscribe" | "startWorkers" | "close" | "changesSince">;

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Resolves with the exit code, or the signal, when all that it said has been read. */
  readonly ended: Promise<number | string | null>;
  /** What it reported from the background. */
  readonly reported: string[];
  /** It has said that it stops itself. */
  readonly stopping: Promise<void>;
  call<V extends Verb>(
    verb: V,
    args: Parameters<Runtime[V]>[1],
  ): Promise<Answer<Awaited<ReturnType<Runtime[V]>>>>;
  /** The same, for a call that must succeed. */
  do<V extends Verb>(verb: V, args: Parameters<Runtime[V]>[1]): Promise<Awaited<ReturnType<Runtime[V]>>>;
  /** In that process alone. */
  passTime(ms: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

const children = new Set<Child>();

/** Ends whatever a test left running. */
export async function killChildren(): Promise<void> {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all([...children].map(({ ended }) => ended));
}

const programs = new Map<string, Promise<string>>();
/** One bundle a test file: files run side by side. */
function programOf(name: string): Promise<string> {
  let program = programs.get(name);
  if (!program) {
    program = bundleProgram("lib/testing/failure/process.ts", `failure-${name}`);
    programs.set(name, program);
  }
  return program;
}

/** `name`: the test file's. `under`: a command that runs what follows it. */
export async function startChild(
  name: string,
  options: ProcessOptions,
  under: readonly string[] = [],
): Promise<Child> {
  const [program = "", ...args] = [
    ...under,
    process.execPath,
    ...nodeFlags,
    await programOf(name),
    JSON.stringify(options),
  ];
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map<number, (answer: Answer<never>) => void>();
  const reported: string[] = [];
  let ids = 0;
  let over = false;
  let ready = (): void => undefined;
  const isReady = new Promise<void>((done) => (ready = done));
  let stops = (): void => undefined;
  const stopping = new Promise<void>((done) => (stops = done));
  const lines = createInterface({ input: must(child.stdout, "stdout is a pipe") });
  lines.on("line", (line) => {
    const said = JSON.parse(line) as Record<string, unknown>;
    if ("ready" in said) return ready();
    if ("stopping" in said) return stops();
    if ("reported" in said) return void reported.push(String(said["reported"]));
    const id = Number(said["id"]);
    waiting.get(id)?.(said as unknown as Answer<never>);
    waiting.delete(id);
  });
  const read = new Promise<void>((done) => lines.once("close", done));
  const exited = new Promise<number | string | null>((done) =>
    child.once("exit", (code, signal) => done(code ?? signal)),
  );
  const ended = Promise.all([exited, read]).then(([how]) => {
    over = true;
    for (const answer of waiting.values()) answer(null);
    waiting.clear();
    children.delete(made);
    return how;
  });
  child.stdin?.on("error", () => undefined);
  const call = (verb: string, args: object): Promise<Answer<never>> =>
    new Promise((done) => {
      if (over) return done(null);
      const id = (ids += 1);
      waiting.set(id, done);
      child.stdin?.write(`${JSON.stringify({ id, verb, args })}\n`);
    });
  const made: Child = {
    process: child,
    pid: must(child.pid, "it was started"),
    ended,
    reported,
    stopping,
    call: call,
    do: async (verb: string, args: object) => {
      const answer = await call(verb, args);
      if (!answer) throw new Error(`the process ended during ${verb}`);
      if (answer.code !== undefined) throw new Error(`${verb}: ${answer.code}: ${answer.message}`);
      return answer.result;
    },
    passTime: async (ms) => void (await call("passTime", { ms })),
    kill: (signal) => void child.kill(signal),
  };
  children.add(made);
  await Promise.race([isReady, ended]);
  return made;
}
