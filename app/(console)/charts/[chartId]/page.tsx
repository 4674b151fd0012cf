import type { Metadata } from "next";
import { ChartEditor } from "@/components/editor/chart-editor";

interface Props {
  params: Promise<{ chartId: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).chartId) };
}

export default async function Page({ params }: Props) {
  const chartId = decodeURIComponent((await params).chartId);
  return <ChartEditor key={chartId} chartId={chartId} />;
}
