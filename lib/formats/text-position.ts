/**
 * Offsets of a text as people count them: line and column, both from 1.
 */
export interface TextPosition {
  line: number;
  column: number;
}

/** Position of `offset` (UTF-16 code units) in `text`; `\r\n`, `\n` and `\r` each end a line. */
export function positionAt(text: string, offset: number): TextPosition {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < offset && i < text.length; i++) {
    const code = text.charCodeAt(i);
    const endsLine = code === 10 || (code === 13 && text.charCodeAt(i + 1) !== 10);
    if (endsLine) {
      line++;
      lineStart = i + 1;
    }
  }
  return { line, column: Math.min(offset, text.length) - lineStart + 1 };
}

/** Positions of many offsets of one text. */
export class LineIndex {
  private readonly starts: number[] = [0];

  constructor(text: string) {
    for (const { index } of text.matchAll(/\r\n|\n|\r/g))
      this.starts.push(index + (text.startsWith("\r\n", index) ? 2 : 1));
  }

  at(offset: number): TextPosition {
    let low = 0;
    let high = this.starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.starts[low] ?? 0) + 1 };
  }
}
