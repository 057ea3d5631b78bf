/** Notices that a user sees when signing in: an operator created a link that sets their password. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { epochSeconds } from '@strongroom/platform/clock'
import * as z from 'zod'
import { keyTemplate } from '../../storage/key-template.ts'
import { id, isoTime, seconds } from '../../storage/schemas.ts'
import { isoNow, unlessExpired } from '../../storage/time.ts'
import type { StoreDeps } from '../../stores.ts'
import { eventsTable } from '../../tables.ts'

/**
 * At each sign-in for this long: somebody who misuses the link signs in first, and must not be able
 * to use the notice up.
 */
const LIFETIME_SECONDS = 30 * 86_400

export const noticeKey = keyTemplate({ PK: 'USER#{userId}', SK: 'NOTICE#PASSWORD_RESET' })

export const NoticeItem = z.object({
  ...noticeKey.fields,
  userId: id('usr'),
  operator: z.string().min(1).max(100),
  at: isoTime,
  expiresAt: seconds,
})
export type Notice = z.infer<typeof NoticeItem>

export type NoticeStore = ReturnType<typeof createNoticeStore>

export function createNoticeStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const notices = entity(db, eventsTable, NoticeItem)
  return {
    /** For the transaction that creates the link. */
    resetOfferedPart(userId: string, operator: string): TransactWriteItem {
      return notices.part.put({
        ...noticeKey.of({ userId }),
        userId,
        operator,
        at: isoNow(clock),
        expiresAt: epochSeconds(clock) + LIFETIME_SECONDS,
      })
    },

    async find(userId: string): Promise<Notice | undefined> {
      return unlessExpired(clock, await notices.get(noticeKey.of({ userId })))
    },
  }
}
