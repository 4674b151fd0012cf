"use client";
/**
 * The bottom drawer: Problems and Code. Its height is remembered.
 */
import { ChevronDown, ChevronUp } from "lucide-react";
import { useRef, useState, type PointerEvent } from "react";
import { CountBadge } from "@/components/ui/chip";
import { IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { CodePanel } from "./code-panel";
import { useEditor, type DrawerTab } from "./editor-store";
import { ProblemsPanel } from "./problems-panel";

const heightKey = "lockstep.editor.drawer";
const heightMin = 120;

export function Drawer() {
  const drawer = useEditor((state) => state.drawer);
  const problems = useEditor((state) => state.problems);
  const set = useEditor((state) => state.set);
  const [height, setHeight] = useState(storedHeight);
  const box = useRef<HTMLDivElement>(null);
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const warnings = problems.filter((problem) => problem.severity === "warning").length;
  const tab = (name: DrawerTab, content: React.ReactNode) => (
    <button
      type="button"
      role="tab"
      aria-selected={drawer.open && drawer.tab === name}
      data-testid={`drawer-${name}`}
      className={cn(
        "-mb-px flex h-9 items-center gap-1.5 border-b-2 border-transparent px-2 text-body text-text-2 hover:text-text",
        drawer.open && drawer.tab === name && "border-ink font-semibold text-text",
      )}
      onClick={() => set({ drawer: { tab: name, open: !(drawer.open && drawer.tab === name) } })}
    >
      {content}
    </button>
  );
  const resize = (event: PointerEvent) => {
    const from = event.clientY;
    const onMove = (move: globalThis.PointerEvent) => {
      const next = Math.max(heightMin, Math.min(window.innerHeight - 240, height + from - move.clientY));
      setHeight(next);
    };
    const onUp = () => {
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onUp);
      localStorage.setItem(heightKey, String(box.current?.offsetHeight ?? height));
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onUp);
  };
  return (
    <section
      ref={box}
      aria-label="Drawer"
      className="relative flex shrink-0 flex-col border-t border-border bg-surface"
      style={{ height: drawer.open ? height : 37 }}
    >
      {drawer.open ? (
        <div
          role="separator"
          aria-orientation="horizontal"
          aria-label="Drawer height"
          tabIndex={0}
          aria-valuenow={height}
          className="absolute inset-x-0 -top-1 z-510 h-2 cursor-row-resize"
          onPointerDown={resize}
          onKeyDown={(event) => {
            const by = { ArrowUp: 20, ArrowDown: -20 }[event.key];
            if (by === undefined) return;
            event.preventDefault();
            setHeight((now) => Math.max(heightMin, now + by));
          }}
        />
      ) : null}
      <div className="flex h-9 shrink-0 items-center border-b border-border px-1.5">
        <div role="tablist" aria-label="Drawer" className="flex items-center gap-1">
          {tab(
            "problems",
            <>
              Problems
              {errors > 0 ? <CountBadge tone="failed">{errors}</CountBadge> : null}
              {warnings > 0 ? <CountBadge tone="exited">{warnings}</CountBadge> : null}
            </>,
          )}
          {tab("code", "Code")}
        </div>
        <IconButton
          className="ml-auto"
          size="icon-sm"
          label={drawer.open ? "Close the drawer" : "Open the drawer"}
          onClick={() => set({ drawer: { ...drawer, open: !drawer.open } })}
        >
          {drawer.open ? <ChevronDown size={14} aria-hidden /> : <ChevronUp size={14} aria-hidden />}
        </IconButton>
      </div>
      {drawer.open ? (
        <div role="tabpanel" className="min-h-0 flex-1 overflow-hidden">
          {drawer.tab === "problems" ? <ProblemsPanel /> : <CodePanel />}
        </div>
      ) : null}
    </section>
  );
}

/** 246 px unless it was dragged. */
function storedHeight(): number {
  const stored = typeof localStorage === "undefined" ? NaN : Number(localStorage.getItem(heightKey));
  return stored >= heightMin ? stored : 246;
}
