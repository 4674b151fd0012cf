/**
 * What the marks mean: under a drawing that shows a step.
 */
const items = [
  { mark: "active", word: "active" },
  { mark: "entered", word: "entered" },
  { mark: "exited", word: "exited" },
  { mark: "taken", word: "taken" },
  { mark: "refused", word: "refused" },
  { mark: "failed", word: "failed" },
] as const;

export function Legend() {
  return (
    <ul aria-label="Legend" className="flex flex-wrap items-center gap-x-4 gap-y-1 text-hint text-text-2">
      {items.map(({ mark, word }) => (
        <li key={mark} className="flex items-center gap-1.5">
          <Sample mark={mark} /> {word}
        </li>
      ))}
    </ul>
  );
}

function Sample({ mark }: { mark: (typeof items)[number]["mark"] }) {
  if (mark === "taken" || mark === "refused") {
    return (
      <svg
        width="24"
        height="12"
        aria-hidden
        className="lc-edge"
        data-taken={mark === "taken" || undefined}
        data-refused={mark === "refused" ? "false" : undefined}
      >
        <path className="lc-line" d="M1,6L16,6" style={{ animation: "none" }} />
        {mark === "taken" ? (
          <path className="lc-arrowhead" d="M24,6L14,1L14,11Z" />
        ) : (
          <text x="15" y="10.5" fontSize="11" fontWeight="700" fill="var(--failed)">
            ✕
          </text>
        )}
      </svg>
    );
  }
  return (
    <span aria-hidden className="relative m-0.5 inline-block h-3 w-[18px]">
      <span
        className="lc-state"
        style={{ borderRadius: 4, outlineOffset: 1 }}
        data-active={mark === "active" || mark === "entered" ? "true" : undefined}
        data-entered={mark === "entered" ? "true" : undefined}
        data-exited={mark === "exited" ? "true" : undefined}
        data-failed={mark === "failed" ? "true" : undefined}
      />
    </span>
  );
}
