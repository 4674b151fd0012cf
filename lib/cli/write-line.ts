/**
 * A line to stdout, complete before the next: a reader at the other end of a pipe sees each line when it is printed.
 */
export function writeLine(text: string): Promise<void> {
  return new Promise((done, failed) => {
    process.stdout.write(`${text}\n`, (error) => (error ? failed(error) : done()));
  });
}
