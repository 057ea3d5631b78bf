/** Leaving a view: starting over, and the warning before the page is unloaded. */
import { clearLink } from './stored-link.ts'

let showStartScreen = () => {}

export function setStartScreen(show: () => void) {
  showStartScreen = show
}

/** Shows the form and forgets the link that led here. */
export function startOver() {
  clearLink()
  showStartScreen()
}

let hasUnsavedData = () => false

addEventListener('beforeunload', (event) => {
  if (hasUnsavedData()) event.preventDefault()
})

/** Warns before the page is left while `isUnsaved` returns true. Replaces the previous check. */
export function warnBeforeUnload(isUnsaved: () => boolean) {
  hasUnsavedData = isUnsaved
}
