/**
 * Bootstrap codes: the way in for the first admin. A code works once and for 30 minutes, and only its
 * hash is stored. There is one at a time: a new code ends the one before it.
 */
import { createHash } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { randomToken } from '@strongroom/kit/ids'
import { createOperators, isPermanentAdmin, operatorError } from '@strongroom/kit/operators'
import { serverTable } from '@strongroom/kit/server-table'
import { transactParts } from '@strongroom/kit/transact'
import * as z from 'zod'

export const BootstrapItem = z.object({
  PK: z.literal('BOOTSTRAP'),
  SK: z.literal('CODE'),
  codeHash: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32),
  createdAt: z.number().int(),
  expiresAt: z.number().int(),
})

const KEY = { PK: 'BOOTSTRAP', SK: 'CODE' } as const
const LIFETIME_SECONDS = 30 * 60
const CODE = /^srb_[A-Za-z0-9_-]{32}$/

/** The name of the first admin, if it chooses no other. */
export const FIRST_ADMIN = 'admin'

export interface BootstrapCode {
  code: string
  /** In epoch seconds. */
  expiresAt: number
}

export type BootstrapCodes = ReturnType<typeof createBootstrapCodes>

export function createBootstrapCodes({ db, clock }: { db: Db; clock: Clock }) {
  const items = entity(db, serverTable, BootstrapItem)
  const operators = createOperators({ db, clock })

  return {
    /** Whether the server has no admin that could add operators. */
    async isNeeded(): Promise<boolean> {
      return !(await operators.list()).some(isPermanentAdmin)
    },

    async create(): Promise<BootstrapCode> {
      const code = `srb_${randomToken(24)}`
      const createdAt = epochSeconds(clock)
      const expiresAt = createdAt + LIFETIME_SECONDS
      await items.put({ ...KEY, codeHash: hashOf(code), createdAt, expiresAt })
      return { code, expiresAt }
    },

    /** Exchanges the code for the token of a new admin, and for a session if its part is given. */
    async claim(
      code: string,
      name: string = FIRST_ADMIN,
      sessionPart?: (mark: string) => TransactWriteItem,
    ): Promise<{ name: string; token: string }> {
      if (!CODE.test(code)) throw operatorError('invalid_code')
      const { token, mark, part } = operators.addPart(name, { role: 'admin' })
      const isValid = expr`${items.attr('codeHash')} = ${hashOf(code)} AND ${items.attr('expiresAt')} > ${epochSeconds(clock)}`
      const outcome = await transactParts(db, {
        code: items.part.delete(KEY, isValid),
        operator: part,
        ...(sessionPart && { session: sessionPart(mark) }),
      })
      if (outcome.kind === 'done') return { name, token }
      throw operatorError(outcome.by.has('code') ? 'invalid_code' : 'exists')
    },
  }
}

/** The code has 192 random bits, so a fast hash is as safe as a slow one. */
function hashOf(code: string): Uint8Array {
  return createHash('sha256').update(code).digest()
}
