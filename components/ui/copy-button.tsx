"use client";
/**
 * Copies a text and says so for a moment, in place.
 */
import { Check, Copy, Terminal } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Button, IconButton, type ButtonProps } from "./button";
import { showToast } from "./toast";

const shownMs = 1_600;

function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setCopied(false), shownMs);
      },
      () => showToast("The browser refused the clipboard. Select the text and copy it by hand."),
    );
  };
  return [copied, copy];
}

/** The sign alone, beside an id. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopy();
  return (
    <IconButton label={copied ? "Copied" : label} size="icon-sm" onClick={() => copy(text)}>
      {copied ? <Check size={13} aria-hidden className="text-active" /> : <Copy size={13} aria-hidden />}
    </IconButton>
  );
}

/** "Copy as curl": `line` is made at the click, so that it holds what is on screen then. */
export function CopyCurl({
  line,
  children = "Copy as curl",
  ...props
}: { line: () => string; children?: ReactNode } & Omit<ButtonProps, "onClick" | "children">) {
  const [copied, copy] = useCopy();
  return (
    <Button {...props} onClick={() => copy(line())} data-testid="copy-curl">
      {copied ? <Check size={13} aria-hidden /> : <Terminal size={13} aria-hidden />}
      {copied ? "Copied" : children}
    </Button>
  );
}
