/**
 * Buttons: one ink (primary) a view, outlines for the rest, red outlines for what destroys until its dialog says more.
 *
 * Holds: 28 px high (24 small), so that a pointer finds it; the label is a verb; `…` when more is asked first.
 */
import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names";

const button = cva(
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-control font-medium whitespace-nowrap transition-colors duration-90 select-none [&_svg]:shrink-0",
  {
    variants: {
      variant: {
        ink: "bg-ink text-on-ink hover:bg-text-2 disabled:bg-surface-2 disabled:text-text-3 disabled:ring-1 disabled:ring-border disabled:ring-inset",
        outline:
          "border border-border-2 bg-surface text-text shadow-1 hover:bg-surface-2 disabled:border-border disabled:bg-surface-2 disabled:text-text-3 disabled:shadow-none aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent",
        ghost:
          "text-text-2 hover:bg-surface-2 hover:text-text disabled:text-text-3 disabled:hover:bg-transparent",
        danger:
          "bg-failed text-surface hover:ring-2 hover:ring-failed-soft disabled:bg-surface-2 disabled:text-text-3 disabled:ring-1 disabled:ring-border disabled:ring-inset",
        "danger-outline":
          "border border-border-2 bg-surface text-failed shadow-1 hover:border-failed hover:bg-failed-soft disabled:border-border disabled:bg-surface-2 disabled:text-text-3 disabled:shadow-none",
        link: "text-accent hover:underline disabled:text-text-3 disabled:no-underline",
      },
      size: {
        md: "h-7 px-2.5 text-body",
        sm: "h-6 px-2 text-hint",
        icon: "size-7",
        "icon-sm": "size-6",
      },
    },
    compoundVariants: [{ variant: "link", className: "h-auto min-h-6 px-0" }],
    defaultVariants: { variant: "outline", size: "md" },
  },
);

export interface ButtonProps extends ComponentProps<"button">, VariantProps<typeof button> {
  /** Renders its only child (a link) in the button's looks. */
  asChild?: boolean;
}

export function Button({ className, variant, size, asChild, type = "button", ...props }: ButtonProps) {
  const classes = cn(button({ variant, size }), className);
  if (asChild) return <Slot.Root className={classes} {...props} />;
  return <button type={type} className={classes} {...props} />;
}

/** A button that is only a sign: `label` is what it is called. */
export function IconButton({
  label,
  children,
  size = "icon",
  variant = "ghost",
  ...props
}: ButtonProps & { label: string; children: ReactNode }) {
  return (
    <Button aria-label={label} size={size} variant={variant} {...props}>
      {children}
    </Button>
  );
}
