"use client";
/**
 * The frame around every page: rail or sidebar, commands, keys, the live stream and what is said when it is lost.
 */
import { CircleQuestionMark, Search, WifiOff } from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { useState, type ReactNode } from "react";
import { Banner } from "../banner";
import { Button, IconButton } from "../button";
import { cn } from "../class-names";
import { Kbd } from "../kbd";
import { LiveProvider, useLive } from "../live";
import { formatClock, zoneName } from "../time";
import { useZone } from "../time-zone";
import { Tooltip } from "../tooltip";
import { useKeys } from "../use-keys";
import { CommandMenu } from "./command-menu";
import { KeysDialog } from "./keys-dialog";
import { Logo } from "./logo";
import { isDense, rooms } from "./rooms";
import { ThemeMenu } from "./theme-menu";

export function AppShell({ children }: { children: ReactNode }) {
  const path = usePathname();
  const [commandsOpen, setCommandsOpen] = useState(false);
  const [keysOpen, setKeysOpen] = useState(false);
  useKeys({ "mod+k": () => setCommandsOpen((open) => !open), "?": () => setKeysOpen(true) });
  const frame = { path, onCommands: () => setCommandsOpen(true), onKeys: () => setKeysOpen(true) };
  return (
    <LiveProvider>
      <a
        href="#main"
        className="absolute -top-10 left-2 z-900 rounded-control bg-ink px-3 py-1.5 text-on-ink focus:top-2"
      >
        Skip to the page
      </a>
      <div className="flex h-dvh min-w-0">
        {isDense(path) ? <Rail {...frame} /> : <Sidebar {...frame} />}
        <main id="main" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
          <OfflineBanner />
          {children}
        </main>
      </div>
      <CommandMenu open={commandsOpen} onOpenChange={setCommandsOpen} onShowKeys={() => setKeysOpen(true)} />
      <KeysDialog open={keysOpen} onOpenChange={setKeysOpen} />
    </LiveProvider>
  );
}

interface FrameProps {
  path: string;
  onCommands: () => void;
  onKeys: () => void;
}

function Rail({ path, onCommands, onKeys }: FrameProps) {
  return (
    <header className="flex w-11 shrink-0 flex-col items-center border-r border-border bg-surface pb-2">
      <Link href="/" aria-label="Lockstep, overview" className="flex h-11 items-center rounded-control">
        <Logo />
      </Link>
      <nav aria-label="Rooms" className="mt-1 flex flex-1 flex-col gap-1.5">
        {rooms.map((room) => {
          const current = room.matches(path);
          return (
            <Tooltip key={room.href} text={room.name} side="right">
              <Link
                href={room.href}
                aria-label={room.name}
                aria-current={current ? "page" : undefined}
                data-testid={`nav-${room.name.toLowerCase()}`}
                className={cn(
                  "flex size-7 items-center justify-center rounded-control text-text-2 transition-colors duration-90 hover:bg-surface-2 hover:text-text",
                  current && "bg-surface-3 text-text",
                )}
              >
                <room.icon size={16} aria-hidden />
              </Link>
            </Tooltip>
          );
        })}
      </nav>
      <div className="flex flex-col gap-1">
        <Tooltip text="Search or run" keys="⌘K" side="right">
          <IconButton label="Search or run" onClick={onCommands}>
            <Search size={16} aria-hidden />
          </IconButton>
        </Tooltip>
        <Tooltip text="Keys" keys="?" side="right">
          <IconButton label="Keys" onClick={onKeys}>
            <CircleQuestionMark size={16} aria-hidden />
          </IconButton>
        </Tooltip>
        <ThemeMenu />
      </div>
    </header>
  );
}

function Sidebar({ path, onCommands, onKeys }: FrameProps) {
  return (
    <header className="flex w-52 shrink-0 flex-col border-r border-border bg-surface px-2.5 pb-2 max-md:w-11 max-md:px-2">
      <Link
        href="/"
        className="flex h-12 items-center gap-2.5 rounded-control px-1.5 text-dialog font-semibold"
      >
        <Logo />
        <span className="max-md:sr-only">Lockstep</span>
      </Link>
      <button
        type="button"
        onClick={onCommands}
        data-testid="open-commands"
        className="mb-2.5 flex h-[30px] items-center gap-2 rounded-control border border-border-2 bg-surface-2 px-2 text-body text-text-2 transition-colors duration-90 hover:border-line"
      >
        <Search size={14} aria-hidden className="text-text-3" />
        <span className="flex-1 text-left max-md:sr-only">Search or run…</span>
        <Kbd className="max-md:hidden">⌘K</Kbd>
      </button>
      <nav aria-label="Rooms" className="flex flex-1 flex-col gap-px">
        {rooms.map((room) => {
          const current = room.matches(path);
          return (
            <Link
              key={room.href}
              href={room.href}
              aria-current={current ? "page" : undefined}
              data-testid={`nav-${room.name.toLowerCase()}`}
              className={cn(
                "flex h-7 items-center gap-2.5 rounded-control px-2 text-body text-text-2 transition-colors duration-90 hover:bg-surface-2 hover:text-text max-md:px-1.5",
                current && "bg-surface-3 font-semibold text-text hover:bg-surface-3",
              )}
            >
              <room.icon size={15} aria-hidden />
              <span className="max-md:sr-only">{room.name}</span>
            </Link>
          );
        })}
      </nav>
      <div className="-mx-2.5 flex items-center gap-2 border-t border-border px-3.5 pt-2 max-md:mx-0 max-md:flex-col max-md:px-0">
        <span
          aria-hidden
          className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent text-micro font-semibold text-surface"
        >
          L
        </span>
        <div className="min-w-0 flex-1 max-md:hidden">
          <p className="truncate text-body leading-4 font-medium">local</p>
          <p className="truncate text-hint leading-4 text-text-3">this machine</p>
        </div>
        <Tooltip text="Keys" keys="?">
          <IconButton label="Keys" onClick={onKeys}>
            <CircleQuestionMark size={16} aria-hidden />
          </IconButton>
        </Tooltip>
        <ThemeMenu />
      </div>
    </header>
  );
}

function OfflineBanner() {
  const live = useLive();
  const { zone } = useZone();
  if (live?.status !== "offline" || live.offlineSince === null) return null;
  return (
    <Banner
      tone="offline"
      icon={WifiOff}
      testId="offline-banner"
      action={
        <Button size="sm" onClick={live.reconnect}>
          Retry
        </Button>
      }
    >
      <strong className="font-semibold">No connection to the server.</strong> Showing{" "}
      <span className="tabular-nums">{formatClock(live.offlineSince, zone, "coarse")}</span> {zoneName(zone)};
      it reconnects by itself.
    </Banner>
  );
}
