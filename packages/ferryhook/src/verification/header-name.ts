import * as z from 'zod'

const notAName = 'Give the name of a header: letters, digits and hyphens'

/** In an option; requests have their names in lower case. */
export const headerName = z
  .string(notAName)
  .regex(/^[\w-]{1,100}$/, notAName)
  .toLowerCase()
