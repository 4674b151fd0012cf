/**
 * The editor before its draft is there: every panel in place, so that nothing jumps when it comes.
 */
import { PageHeader } from "@/components/ui/page-header";

export function EditorFrame({ chartId }: { chartId: string }) {
  return (
    <div className="flex min-h-0 flex-1 flex-col" aria-busy="true" data-testid="editor-loading">
      <PageHeader crumbs={[{ label: "Charts", href: "/charts" }]} title={chartId} />
      <div className="flex min-h-0 flex-1">
        <aside className="w-[220px] shrink-0 border-r border-border bg-surface">
          <h2 className="flex h-8 items-center px-3 text-body font-semibold">Outline</h2>
          <div className="animate-appear">
            {[58, 40, 52, 64, 36, 48].map((width, row) => (
              <div
                key={row}
                className="flex h-[22px] items-center"
                style={{ paddingLeft: 28 + (row % 3) * 14 }}
              >
                <span className="h-2 rounded-chip bg-surface-3" style={{ width: `${width}%` }} />
              </div>
            ))}
          </div>
        </aside>
        <div className="min-w-0 flex-1 bg-canvas" />
        <aside className="w-[320px] shrink-0 border-l border-border bg-surface" />
      </div>
    </div>
  );
}
