export default function OverviewPage() {
  return <main className="p-5">Lockstep</main>;
}
