/** The second factors of a user: an authenticator app, passkeys and recovery codes, in one item. */
import { SecondFactorItem as StoredItem } from '@strongroom/kit/second-factor/item'
import { keyTemplate } from '../../storage/key-template.ts'

export const secondFactorKey = keyTemplate({ PK: 'USER#{userId}', SK: '2FA' })

export const SecondFactorItem = StoredItem.extend(secondFactorKey.fields)
