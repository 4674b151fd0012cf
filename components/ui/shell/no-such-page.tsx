"use client";
/**
 * An address that leads nowhere, with the way on.
 */
import { Compass } from "lucide-react";
import Link from "next/link";
import { Button } from "../button";
import { Empty } from "../states";
import { AppShell } from "./app-shell";

export function NoSuchPage() {
  return (
    <AppShell>
      <Empty
        icon={Compass}
        title="There is no such page"
        action={
          <Button asChild>
            <Link href="/">Overview</Link>
          </Button>
        }
      >
        The address may be mistyped. Charts, instances and locks are found with ⌘K.
      </Empty>
    </AppShell>
  );
}
