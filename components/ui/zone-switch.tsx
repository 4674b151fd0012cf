"use client";
/**
 * Names the zone once on the page and changes it.
 */
import { Button } from "./button";
import { zoneName } from "./time";
import { useZone } from "./time-zone";
import { Tooltip } from "./tooltip";

export function ZoneSwitch() {
  const { zone, setZone } = useZone();
  const other = zone === "utc" ? "local" : "utc";
  return (
    <Tooltip text={other === "utc" ? "Read times in UTC" : "Read times in this computer's zone"}>
      <Button variant="ghost" onClick={() => setZone(other)} data-testid="zone-switch">
        Times in {zoneName(zone)}
      </Button>
    </Tooltip>
  );
}
