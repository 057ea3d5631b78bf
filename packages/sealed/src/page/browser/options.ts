/** The operator's settings of this page, which the server has written into it. */
import type { SecretOptions } from '../../api.ts'
import { requireElement } from './dom.ts'

const { options = '{}', name = '', requests = 'off' } = requireElement('stage').dataset

export const secretOptions = JSON.parse(options) as SecretOptions

/** What the operator calls this page. */
export const pageName = name

/** Who can make requests: `anyone`, holders of an `api-token`, or nobody (`off`). */
export const requestsFrom = requests
