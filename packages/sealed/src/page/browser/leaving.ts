/** Asks before a page is left on which something would get lost. */

let wouldLose = () => false

addEventListener('beforeunload', (event) => {
  if (wouldLose()) event.preventDefault()
})

/** From now on this decides, until it is told anew. */
export function warnWhile(loses: () => boolean) {
  wouldLose = loses
}
