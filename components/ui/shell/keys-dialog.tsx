"use client";
/**
 * Every key, under `?`.
 */
import { Dialog } from "../dialog";
import { Kbd } from "../kbd";

const groups: { title: string; keys: [keys: string[], what: string][] }[] = [
  {
    title: "Everywhere",
    keys: [
      [["⌘K", "Ctrl K"], "commands: pages, charts, instances"],
      [["?"], "these keys"],
      [["Esc"], "back, close, clear"],
    ],
  },
  {
    title: "Lists",
    keys: [
      [["J", "K"], "next, previous row"],
      [["↵"], "open the row"],
      [["X"], "choose the row, where many may be"],
      [["⇧X"], "choose all from the last one on"],
      [["/"], "filter"],
      [["R"], "release the lock…"],
    ],
  },
  {
    title: "Time travel",
    keys: [
      [["←", "→"], "previous, next event"],
      [["⇧←", "⇧→"], "previous, next that moved"],
      [["[", "]"], "previous, next failure"],
      [["G"], "go to seq"],
      [["Space"], "play, stop"],
      [["Esc"], "back to live"],
      [["E"], "send test event…"],
    ],
  },
  {
    title: "Editor",
    keys: [
      [["S"], "state"],
      [["T"], "transition"],
      [["P"], "compound, parallel"],
      [["F"], "final"],
      [["I"], "initial"],
      [["⇧1"], "fit"],
    ],
  },
];

export function KeysDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keys" width={640} testId="keys-dialog">
      <div className="columns-2 gap-8">
        {groups.map((group) => (
          <section key={group.title} className="mb-4 break-inside-avoid">
            <h2 className="mb-1 text-hint font-medium text-text-3">{group.title}</h2>
            <dl>
              {group.keys.map(([keys, what]) => (
                <div key={what} className="flex h-7 items-center gap-2">
                  <dt className="flex w-24 shrink-0 gap-1">
                    {keys.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dt>
                  <dd className="text-text-2">{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
