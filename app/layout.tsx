/**
 * The outermost frame of every page: fonts, tokens, theme, data. No logic.
 */
import type { Metadata, Viewport } from "next";
import { GeistMono } from "geist/font/mono";
import { GeistSans } from "geist/font/sans";
import type { ReactNode } from "react";
import { Providers } from "@/components/ui/providers";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Lockstep", template: "%s · Lockstep" },
  description:
    "Durable statecharts: design them in the browser, run them across workers, rewind them event by event.",
};

export const viewport: Viewport = { colorScheme: "light dark" };

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en" className={`${GeistSans.variable} ${GeistMono.variable}`} suppressHydrationWarning>
      <body>
        <Providers>{children}</Providers>
      </body>
    </html>
  );
}
