/** The server that this page came from. */
import { createSealedApi } from '../../client/api.ts'
import { patience, type Patience } from '../../client/patience.ts'
import { parseBase } from '../../crypto/link.ts'
import { duration } from './format.ts'
import { text } from './language.ts'

/** Where the page is: links lead here, and the API is below it. */
export const base = parseBase(location.origin + location.pathname)

export const api = createSealedApi({ base })

/** Says why it takes longer. */
export function patienceWith(tell: (what: () => string) => void): Patience {
  return {
    ...patience,
    onWait: (reason, seconds) =>
      tell(() =>
        reason === 'lost'
          ? text('failed.retrying')
          : text('failed.waiting', { time: duration(seconds) }),
      ),
  }
}
