/**
 * Two squares that step together.
 */
export function Logo({ size = 18 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 18 18" aria-hidden className="shrink-0">
      <rect x="6.5" y="0.5" width="11" height="11" rx="3.2" fill="var(--ink)" />
      <rect
        x="0.5"
        y="6.5"
        width="11"
        height="11"
        rx="3.2"
        fill="var(--surface)"
        stroke="var(--surface)"
        strokeWidth="1.5"
      />
      <rect x="1" y="7" width="10" height="10" rx="2.8" fill="none" stroke="var(--ink)" strokeWidth="2" />
    </svg>
  );
}
