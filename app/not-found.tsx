/**
 * An address that leads nowhere.
 */
import { Compass } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { Button } from "@/components/ui/button";
import { AppShell } from "@/components/ui/shell/app-shell";
import { Empty } from "@/components/ui/states";

export const metadata: Metadata = { title: "No such page" };

export default function NotFound() {
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
