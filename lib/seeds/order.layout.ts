/**
 * Where the order's boxes and arrows lie, as the automatic layout puts them: stored, so that every screen draws it alike.
 */
import type { Layout } from "@/lib/diagram/layout";

// One line an element.
// prettier-ignore
export const orderLayout: Layout = {
  direction: "down",
  states: {
    "#initial": { x: 278, y: 24, w: 12, h: 12 },
    "Awaiting payment": { x: 203, y: 72, w: 162, h: 67 },
    "Paid": { x: 238, y: 250, w: 92, h: 35 },
    "Refunding": { x: 314, y: 510, w: 107, h: 35 },
    "Shipped": { x: 223, y: 380, w: 92, h: 35 },
    "Delivered": { x: 169, y: 509, w: 111, h: 37 },
    "Cancelled": { x: 367, y: 640, w: 111, h: 37 },
    "Expired": { x: 24, y: 249, w: 96, h: 37 },
  },
  routes: {
    "#initial": { points: [{ x: 284, y: 36 }, { x: 284, y: 72 }] },
    "Awaiting payment#after/30m/0": { points: [{ x: 244, y: 139 }, { x: 244, y: 157 }, { x: 72, y: 157 }, { x: 72, y: 249 }], label: { x: 32, y: 183, w: 80, h: 22 } },
    "Awaiting payment#on/pay/0": { points: [{ x: 284, y: 139 }, { x: 284, y: 250 }], label: { x: 128, y: 175, w: 312, h: 38 } },
    "Awaiting payment#on/cancel/0": { points: [{ x: 325, y: 139 }, { x: 325, y: 157 }, { x: 460, y: 157 }, { x: 460, y: 622 }, { x: 441, y: 622 }, { x: 441, y: 640 }], label: { x: 430, y: 387, w: 59, h: 22 } },
    "Paid#on/ship/0": { points: [{ x: 269, y: 285 }, { x: 269, y: 380 }], label: { x: 186, y: 322, w: 166, h: 22 } },
    "Paid#on/cancel/0": { points: [{ x: 299, y: 285 }, { x: 299, y: 304 }, { x: 385, y: 304 }, { x: 385, y: 510 }], label: { x: 355, y: 387, w: 59, h: 22 } },
    "Refunding#on/refunded/0": { points: [{ x: 368, y: 545 }, { x: 368, y: 622 }, { x: 404, y: 622 }, { x: 404, y: 640 }], label: { x: 331, y: 582, w: 73, h: 22 } },
    "Shipped#on/delivered/0": { points: [{ x: 254, y: 415 }, { x: 254, y: 433 }, { x: 225, y: 433 }, { x: 225, y: 509 }], label: { x: 185, y: 451, w: 80, h: 22 } },
    "Shipped#on/returned/0": { points: [{ x: 284, y: 415 }, { x: 284, y: 433 }, { x: 329, y: 433 }, { x: 329, y: 491 }, { x: 350, y: 491 }, { x: 350, y: 510 }], label: { x: 292, y: 451, w: 73, h: 22 } },
  },
};
