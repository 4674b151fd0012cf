/**
 * The room the drawing has in the window: a new layout is made to fit it.
 */
const panelsW = 44 + 220 + 320;
const barsH = 44 + 37;

export function canvasSize(): { w: number; h: number } {
  const canvas = document.querySelector("[data-testid=canvas]");
  const w = canvas?.clientWidth ?? window.innerWidth - panelsW;
  const h = canvas?.clientHeight ?? window.innerHeight - barsH;
  return { w: Math.max(400, w), h: Math.max(300, h) };
}
