"use client";
/**
 * A CodeMirror field for CEL or JSON, edited locally and handed on as it changes.
 *
 * Holds: a change from outside replaces the text only when it differs; the field is named for a screen reader.
 */
import { json } from "@codemirror/lang-json";
import { EditorView, placeholder } from "@codemirror/view";
import CodeMirror, { type ReactCodeMirrorRef } from "@uiw/react-codemirror";
import { useEffect, useMemo, useRef } from "react";
import { cn } from "@/components/ui/class-names";
import { celLanguage, codeLooks } from "./cel-language";

export interface CodeFieldProps {
  value: string;
  onChange: (value: string) => void;
  language: "cel" | "json";
  label: string;
  invalid?: boolean;
  placeholder?: string;
  lineNumbers?: boolean;
  /** Focused whenever this grows. */
  focusCount?: number;
  minHeight?: string;
  height?: string;
  onBlur?: () => void;
  /** ⌘↵ */
  onSubmit?: () => void;
  bare?: boolean;
  testId?: string;
}

export function CodeField(props: CodeFieldProps) {
  const { value, onChange, language, label, invalid = false, lineNumbers = true, focusCount = 0 } = props;
  const field = useRef<ReactCodeMirrorRef>(null);
  const extensions = useMemo(
    () => [
      language === "cel" ? celLanguage : json(),
      codeLooks,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label }),
      ...(props.placeholder ? [placeholder(props.placeholder)] : []),
    ],
    [language, label, props.placeholder],
  );
  useEffect(() => {
    if (focusCount > 0) field.current?.view?.focus();
  }, [focusCount]);
  return (
    <div
      data-testid={props.testId}
      onKeyDownCapture={(event) => {
        if (!props.onSubmit || event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        event.stopPropagation();
        props.onSubmit();
      }}
      className={cn(
        !props.bare &&
          "overflow-hidden rounded-control border bg-surface transition-colors duration-90 focus-within:border-accent",
        !props.bare && (invalid ? "border-failed" : "border-line"),
      )}
    >
      <CodeMirror
        ref={field}
        value={value}
        onChange={onChange}
        theme="none"
        extensions={extensions}
        {...(props.minHeight === undefined ? {} : { minHeight: props.minHeight })}
        {...(props.height === undefined ? {} : { height: props.height })}
        {...(props.onBlur ? { onBlur: props.onBlur } : {})}
        indentWithTab={false}
        basicSetup={{
          lineNumbers,
          foldGutter: language === "json" && lineNumbers,
          highlightActiveLine: false,
          highlightActiveLineGutter: false,
          autocompletion: false,
          searchKeymap: language === "json",
        }}
      />
    </div>
  );
}
