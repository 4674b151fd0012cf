"use client";
/**
 * Dialogs: title, body that scrolls, footer that stays. Esc closes; focus goes to `initialFocus`, else to the first field, and comes back.
 */
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useRef, type ReactNode, type RefObject } from "react";
import { IconButton } from "./button";
import { cn } from "./class-names";

export interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  /** Under the title, for the eye; also read with it. */
  description?: ReactNode;
  /** Right of the title: a chip, when it was checked. */
  aside?: ReactNode;
  footer?: ReactNode;
  /** Default: the first field. */
  initialFocus?: RefObject<HTMLElement | null>;
  /** Width in px. */
  width?: number;
  children: ReactNode;
  testId?: string;
  className?: string;
}

export function Dialog(props: DialogProps) {
  const {
    open,
    onOpenChange,
    title,
    description,
    aside,
    footer,
    initialFocus,
    width = 520,
    children,
  } = props;
  const body = useRef<HTMLDivElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-800 animate-fade-in bg-shade" />
        <Radix.Content
          data-testid={props.testId}
          onOpenAutoFocus={(event) => {
            const first = body.current?.querySelector<HTMLElement>("input, select, textarea");
            const target = initialFocus?.current ?? first;
            if (!target) return;
            event.preventDefault();
            target.focus();
          }}
          {...(description ? {} : { "aria-describedby": undefined })}
          className="fixed inset-0 z-800 m-auto flex h-fit max-h-[calc(100vh-48px)] max-w-[calc(100vw-32px)] animate-panel-in flex-col overflow-hidden rounded-dialog border border-border-2 bg-surface shadow-3 focus:outline-none"
          style={{ width }}
        >
          <header className="flex min-h-[52px] items-center gap-3 border-b border-border py-2.5 pr-3 pl-[18px]">
            <div className="min-w-0 flex-1">
              <Radix.Title className="flex items-center gap-2.5 text-dialog font-semibold">
                {title}
              </Radix.Title>
              {description ? (
                <Radix.Description className="text-body text-text-2">{description}</Radix.Description>
              ) : null}
            </div>
            {aside}
            <Radix.Close asChild>
              <IconButton label="Close">
                <X size={16} aria-hidden />
              </IconButton>
            </Radix.Close>
          </header>
          <div ref={body} className={cn("min-h-0 flex-1 overflow-y-auto px-[18px] py-3.5", props.className)}>
            {children}
          </div>
          {footer ? (
            <footer className="flex min-h-[52px] flex-wrap items-center justify-end gap-2 border-t border-border bg-surface-2 px-[18px] py-2.5">
              {footer}
            </footer>
          ) : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Beside the footer's buttons: why the last of them is off. */
export function FooterHint({ children, testId }: { children: ReactNode; testId?: string }) {
  return (
    <span
      data-testid={testId}
      className="text-hint text-text-2 max-sm:order-first max-sm:w-full max-sm:text-right"
    >
      {children}
    </span>
  );
}
