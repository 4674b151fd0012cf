/**
 * Log lines of the server: one JSON object a line on standard error, so that standard output stays for people.
 */
type Fields = Record<string, string | number | boolean | null | undefined>;

export function logError(message: string, error: unknown, fields: Fields = {}): void {
  const told =
    error instanceof Error ? { error: error.message, stack: error.stack } : { error: String(error) };
  write("error", message, { ...fields, ...told });
}

export function logInfo(message: string, fields: Fields = {}): void {
  write("info", message, fields);
}

function write(level: "info" | "error", message: string, fields: Fields): void {
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), level, message, ...fields })}\n`);
}
