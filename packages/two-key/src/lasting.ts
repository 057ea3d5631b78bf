/**
 * Whether a moment is still to come, and no further away than it can be: if the clock was set back,
 * nothing is known of how long ago it was chosen.
 */
export function isAhead(moment: number, now: number, most: number): boolean {
  return moment > now && moment <= now + most
}
