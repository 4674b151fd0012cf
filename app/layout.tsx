/**
 * The outermost frame of every page: fonts, tokens, theme, data. No logic.
 */
import type { Metadata, Viewport } from "next";
import { GeistMono } from "geist/font/mono";
import localFont from "next/font/local";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { Providers } from "@/components/ui/providers";
import "./globals.css";

// As geist/font/sans, without its stand-in made from a local Arial: where there is no Arial that face fails to load, and
// with it every wait for the page's fonts (the drawing measures its text after them).
const GeistSans = localFont({
  src: "../node_modules/geist/dist/fonts/geist-sans/Geist-Variable.woff2",
  variable: "--font-geist-sans",
  weight: "100 900",
  adjustFontFallback: false,
});

export const metadata: Metadata = {
  title: { default: "Lockstep", template: "%s · Lockstep" },
  description:
    "Durable statecharts: design them in the browser, run them across workers, rewind them event by event.",
};

export const viewport: Viewport = { colorScheme: "light dark" };

export default async function RootLayout({ children }: { children: ReactNode }) {
  // Set by proxy.ts; reading it renders every page per request, as a fresh nonce needs.
  const nonce = (await headers()).get("x-nonce") ?? undefined;
  return (
    <html lang="en" className={`${GeistSans.variable} ${GeistMono.variable}`} suppressHydrationWarning>
      <body>
        <Providers nonce={nonce}>{children}</Providers>
      </body>
    </html>
  );
}
