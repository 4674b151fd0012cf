"use client";
/**
 * An address that leads nowhere, with the way on.
 */
import { Compass } from "lucide-react";
import Link from "next/link";
import { Button } from "../button";
import { PageHeader } from "../page-header";
import { Empty } from "../states";
import { AppShell } from "./app-shell";

export function NoSuchPage() {
  return (
    <AppShell>
      <PageHeader title="No such page" />
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
