"use client";
/**
 * What every page stands on: theme, query cache, time zone, tooltips, toasts.
 *
 * Holds: old data stays on screen while new loads; a failed read is tried again twice, never a "no" of the server.
 */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { ThemeProvider } from "next-themes";
import { Tooltip } from "radix-ui";
import { useState, type ReactNode } from "react";
import { isLasting } from "@/lib/base/errors";
import { TimeZoneProvider } from "./time-zone";
import { Toaster } from "./toast";

const attemptsMax = 3;

export function Providers({ nonce, children }: { nonce: string | undefined; children: ReactNode }) {
  const [queryClient] = useState(
    () =>
      new QueryClient({
        defaultOptions: {
          queries: {
            staleTime: 5_000,
            refetchOnWindowFocus: true,
            retry: (failures, error) => failures + 1 < attemptsMax && !isLasting(error),
            retryDelay: (attempt) => 400 * 2 ** attempt,
          },
        },
      }),
  );
  return (
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      disableTransitionOnChange
      {...(nonce === undefined ? {} : { nonce })}
    >
      <QueryClientProvider client={queryClient}>
        <TimeZoneProvider>
          <Tooltip.Provider delayDuration={300} skipDelayDuration={100}>
            {children}
          </Tooltip.Provider>
        </TimeZoneProvider>
        <Toaster />
      </QueryClientProvider>
    </ThemeProvider>
  );
}
