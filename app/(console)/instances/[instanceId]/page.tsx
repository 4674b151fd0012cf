import type { Metadata } from "next";
import { InstancePage } from "@/components/time-travel/instance-page";

interface Props {
  params: Promise<{ instanceId: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).instanceId) };
}

export default async function Page({ params }: Props) {
  const instanceId = decodeURIComponent((await params).instanceId);
  return <InstancePage key={instanceId} instanceId={instanceId} />;
}
