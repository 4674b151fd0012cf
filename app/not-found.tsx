import type { Metadata } from "next";
import { NoSuchPage } from "@/components/ui/shell/no-such-page";

export const metadata: Metadata = { title: "No such page" };

export default function NotFound() {
  return <NoSuchPage />;
}
