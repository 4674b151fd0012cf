/**
 * How wide a text is in the drawing's three fonts, and how high its lines are: the numbers that boxes and pills share
 * with the style sheet of the canvas.
 */
export type Font = "title" | "mono" | "pill" | "caps";
/** Width of a text in px at 100 %. */
export type Measure = (text: string, font: Font) => number;

/** A guess from average glyph widths of Geist, a little wide; for tests, the command line and servers. */
export const guessWidth: Measure = (text, font) =>
  text.length * { title: 7.4, mono: 6.7, pill: 6.8, caps: 7.9 }[font];

export const size = {
  /** Padding of a leaf: left/right, top, bottom. */
  leafX: 12,
  leafTop: 7,
  leafBottom: 8,
  leafMinW: 92,
  titleH: 20,
  rowH: 16,
  /** Header of a compound or parallel state without compartments. */
  headH: 32,
  /** What the compartments of a header add besides their rows. */
  headRowsPad: 8,
  /** Label line of a region. */
  regionH: 28,
  dot: 12,
  history: 26,
  pillX: 8,
  pillLineH: 16,
  pillY: 2,
  /** The number of a branch inside its pill. */
  branchW: 22,
} as const;
