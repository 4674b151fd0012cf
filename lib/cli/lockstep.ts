/**
 * The `lockstep` command. Each verb's code is loaded when it is asked for, so that the command starts fast.
 */
import { exit, UnwritableError, usage, UsageError, usageOf, type ExitCode } from "./usage";

async function main([verb, ...args]: string[]): Promise<ExitCode> {
  const about = verb === "help" ? args[0] : asksForHelp(args) ? verb : undefined;
  if (about !== undefined && !isHelp(about)) return help(about);
  switch (verb) {
    case "check":
      return (await import("./check")).check(args);
    case "convert":
      return (await import("./convert")).convert(args);
    case "run":
      return (await import("./run")).run(args);
    case "test":
      return (await import("./test")).test(args);
    case "paths":
      return (await import("./paths")).paths(args);
    case "render":
      return (await import("./render")).render(args);
    case "worker":
      return (await import("./worker")).worker(args);
    case "instances":
      return (await import("./instances")).instances(args);
    case "locks":
      return (await import("./locks")).locks(args);
    case "workers":
      return (await import("./workers")).workers(args);
    case "audit":
      return (await import("./audit")).audit(args);
    case "retention":
      return (await import("./retention")).retention(args);
    case "archive":
      return (await import("./archive")).archive(args);
    case "schedules":
      return (await import("./schedules")).schedules(args);
    case "batch":
      return (await import("./batch")).batch(args);
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(usage);
      return exit.ok;
    case undefined:
      throw new UsageError("Say what to do.");
    default:
      throw new UsageError(`There is no "lockstep ${verb}".`);
  }
}

const isHelp = (word: string): boolean => ["help", "--help", "-h"].includes(word);

/** What stands behind `--` is no option. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? undefined : end).some((word) => word === "--help" || word === "-h");
}

function help(verb: string): ExitCode {
  const text = usageOf(verb);
  if (text === null) throw new UsageError(`There is no "lockstep ${verb}".`);
  process.stdout.write(text);
  return exit.ok;
}

/** Node's parseArgs throws errors with these codes for wrong arguments. */
const isBadArgument = (error: unknown): error is Error =>
  error instanceof Error && String((error as { code?: unknown }).code).startsWith("ERR_PARSE_ARGS");

// A reader that has seen enough (`| head`) closes the pipe: no error of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exit.ok);
  throw error;
});

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (error instanceof UsageError || isBadArgument(error)) {
      process.stderr.write(
        `lockstep: ${error.message}\n${error instanceof UsageError ? "" : "\n"}Try "lockstep help".\n`,
      );
      process.exit(exit.usage);
    }
    if (error instanceof UnwritableError) {
      process.stderr.write(`lockstep: ${error.message}\n`);
      process.exit(exit.usage);
    }
    process.stderr.write(
      `lockstep: a defect of Lockstep, please report it:\n${error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exit(70);
  },
);
