import { expect, test } from "vitest";
import { LockstepError } from "@/lib/base/errors";
import { emptyLayout } from "@/lib/diagram/layout";
import { DraftSaver, type DraftPorts, type DraftText, type SaveStatus } from "./draft-saver";

const draft = (text: string): DraftText => ({ text, layout: emptyLayout });

/** A server with one draft, a clock that moves by hand, and what this browser keeps. */
function world() {
  const server = { revision: 1, text: "start", savedBy: "local", down: false, saves: 0, loseAnswer: false };
  const kept: { value: { baseRevision: number; draft: DraftText } | null } = { value: null };
  const statuses: SaveStatus[] = [];
  const timers: { at: number; run: () => void }[] = [];
  let now = 0;
  let inFlight = 0;
  const ports: DraftPorts = {
    save: async (baseRevision, { text }) => {
      expect(++inFlight, "never two saves at once").toBe(1);
      server.saves++;
      await Promise.resolve();
      inFlight--;
      if (server.down)
        throw new LockstepError("outcome-unknown", "The connection was lost.", { retry: "later" });
      if (baseRevision !== server.revision)
        throw new LockstepError("draft-conflict", "There is a newer revision.");
      server.revision++;
      server.text = text;
      server.savedBy = "local";
      if (server.loseAnswer) {
        server.loseAnswer = false;
        throw new LockstepError("outcome-unknown", "The answer was lost.", { retry: "later" });
      }
      return { revision: server.revision, savedAt: now };
    },
    fetch: () =>
      Promise.resolve({ ...draft(server.text), revision: server.revision, savedBy: server.savedBy }),
    keep: (value) => {
      kept.value = value;
    },
    onChange: ({ status }) => {
      statuses.push(status);
    },
    now: () => now,
    wait: (ms, run) => {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers.splice(timers.indexOf(timer) >>> 0, 1);
      };
    },
  };
  const pass = async (ms: number) => {
    now += ms;
    for (const timer of timers.filter((item) => item.at <= now)) {
      timers.splice(timers.indexOf(timer), 1);
      timer.run();
    }
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const saver = new DraftSaver(ports, 1, 0);
  return { saver, server, kept, statuses, pass, last: () => statuses[statuses.length - 1] };
}

test("a burst of changes is one save; what is kept here goes once the server has it", async () => {
  const { saver, server, kept, pass, last } = world();
  for (const text of ["a", "ab", "abc"]) saver.change(draft(text));
  expect(kept.value?.draft.text).toBe("abc");
  await pass(500);
  expect(server).toMatchObject({ revision: 2, text: "abc", saves: 1 });
  expect(last()?.kind).toBe("saved");
  expect(kept.value).toBeNull();
});

test("a change during a save is saved after it, on the new revision", async () => {
  const { saver, server, pass, kept } = world();
  saver.change(draft("a"));
  const saving = pass(500);
  saver.change(draft("b"));
  await saving;
  await pass(500);
  expect(server).toMatchObject({ revision: 3, text: "b", saves: 2 });
  expect(kept.value).toBeNull();
});

test("without a connection the work is kept here and saved when it is back", async () => {
  const { saver, server, kept, pass, last } = world();
  server.down = true;
  saver.change(draft("a"));
  await pass(500);
  expect(last()).toMatchObject({ kind: "unsaved", reason: "The connection was lost." });
  saver.change(draft("b"));
  await pass(1_000);
  expect(kept.value).toEqual({ baseRevision: 1, draft: draft("b") });
  server.down = false;
  await pass(2_000);
  expect(server).toMatchObject({ revision: 2, text: "b" });
  expect(last()?.kind).toBe("saved");
});

test("a newer revision stops saving until someone chose; keep mine saves on top of it", async () => {
  const { saver, server, kept, pass, last } = world();
  Object.assign(server, { revision: 2, text: "theirs", savedBy: "mara" });
  saver.change(draft("mine"));
  await pass(500);
  expect(last()).toMatchObject({
    kind: "conflict",
    theirs: { revision: 2, text: "theirs", savedBy: "mara" },
  });
  saver.change(draft("mine, more"));
  await pass(60_000);
  expect(server).toMatchObject({ revision: 2, text: "theirs" });
  expect(kept.value?.draft.text).toBe("mine, more");
  saver.keepMine();
  await pass(0);
  expect(server).toMatchObject({ revision: 3, text: "mine, more" });
  expect(last()?.kind).toBe("saved");
});

test("take theirs sends nothing and edits on from their revision", async () => {
  const { saver, server, kept, pass } = world();
  Object.assign(server, { revision: 2, text: "theirs", savedBy: "mara" });
  saver.change(draft("mine"));
  await pass(500);
  saver.takeTheirs();
  expect(kept.value).toBeNull();
  saver.change(draft("theirs, edited"));
  await pass(500);
  expect(server).toMatchObject({ revision: 3, text: "theirs, edited" });
});

test("a save whose answer was lost is no conflict with oneself", async () => {
  const { saver, server, pass, last } = world();
  server.loseAnswer = true;
  saver.change(draft("a"));
  await pass(500);
  expect(last()?.kind).toBe("unsaved");
  await pass(1_000);
  expect(last()?.kind).toBe("saved");
  expect(server).toMatchObject({ revision: 2, text: "a" });
});
