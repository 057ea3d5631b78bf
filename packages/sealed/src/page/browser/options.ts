/** The operator's settings of this page, which the server has written into it. */
import type { SecretOptions } from '../../api.ts'
import { requireElement } from './dom.ts'

const { options = '{}', name = '' } = requireElement('stage').dataset

export const secretOptions = JSON.parse(options) as SecretOptions

/** What the operator calls this page. */
export const pageName = name
