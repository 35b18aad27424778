// Days as people count them: by the calendar of this device.

import { language } from "./texts.js";

const DAY = 24 * 3600 * 1000;

/** The number of a moment's day, counted from 1 January 1970. */
export function dayOf(moment) {
  return Math.round(Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate()) / DAY);
}

/** Today's number. */
export const today = () => dayOf(new Date());

/** The days of the week from Monday, 0, on; the first day of all was a Thursday. */
export const weekday = (day) => (day + 3) % 7;

/** The day as the language writes it. */
export const dayWords = (day) =>
  new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" }).format(new Date(day * DAY));
