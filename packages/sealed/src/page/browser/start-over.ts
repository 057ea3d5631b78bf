/** The way back to an empty form, from any view. */
import { forget } from './kept.ts'

let showStart = () => {}

export function beginWith(show: () => void) {
  showStart = show
}

/** Nothing of the link that led here is kept. */
export function startOver() {
  forget()
  showStart()
}
