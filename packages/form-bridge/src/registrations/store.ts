/** Registrations. The transactions that turn one into a site are in `credentials/`. */
import { epochSeconds } from '@strongroom/platform/clock'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { createUlids } from '@strongroom/kit/ids'
import { type Counted, countItems } from '../count-items.ts'
import { DEFAULT_PAGE_SIZE, formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import { expiresIn, isoNow, isUnexpired, oldestUnexpired, unexpired } from '../time.ts'
import {
  PENDING_REGISTRATIONS,
  type PendingRegistration,
  PendingRegistrationItem,
  type ProofMethod,
  type Registration,
  RegistrationItem,
  registrationKey,
  type RegistrationName,
} from './item.ts'

export type NewRegistration = Pick<
  Registration,
  | 'domain'
  | 'temp_key'
  | 'wp_version'
  | 'plugin_version'
  | 'admin_email'
  | 'agency_id'
  | 'join_token_hash'
  | 'environment'
  | 'client_ip'
>

export type RegistrationStore = ReturnType<typeof createRegistrationStore>

export function createRegistrationStore({ db, clock }: StoreDeps) {
  const registrations = entity(db, formBridgeTable, RegistrationItem)
  const pending = entity(db, formBridgeTable, PendingRegistrationItem)
  const { attr } = registrations
  const isPending = expr`${attr('status')} = ${'pending'}`
  const ulids = createUlids()
  const isListed = () =>
    expr`${pending.attr('GSI2PK')} = ${PENDING_REGISTRATIONS} AND ${pending.attr('GSI2SK')} >= ${oldestUnexpired(clock, TTL_SECONDS.registration)}`

  return {
    /** A domain may have any number of pending registrations: being first proves nothing. */
    async create(registration: NewRegistration): Promise<Registration> {
      const registration_id = `reg_${ulids(clock.now())}`
      const created_at = isoNow(clock)
      const { ttl, iso: expires_at } = expiresIn(clock, TTL_SECONDS.registration)
      const item: Registration = {
        ...registration,
        ...registrationKey({ domain: registration.domain, registration_id }),
        GSI1PK: `TEMP#${registration.temp_key}`,
        GSI1SK: 'STATUS#pending',
        GSI2PK: PENDING_REGISTRATIONS,
        GSI2SK: `${created_at}#${registration_id}`,
        registration_id,
        status: 'pending',
        created_at,
        expires_at,
        ttl,
      }
      await registrations.put(item, expr`attribute_not_exists(${attr('PK')})`)
      return item
    },

    get(name: RegistrationName): Promise<Registration | undefined> {
      return registrations.get(registrationKey(name)).then(unexpired(clock))
    },

    /** Of any status, newest first. */
    listByDomain(
      domain: string,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
    ): Promise<Page<Registration>> {
      return registrations.query({
        key: expr`${attr('PK')} = ${`SITE#${domain}`} AND begins_with(${attr('SK')}, ${'REG#'})`,
        filter: expr`${attr('ttl')} > ${epochSeconds(clock)}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /** Reads GSI1: eventually consistent. For diagnosis, not for the exchange. */
    async findByTempKey(temp_key: string): Promise<Registration | undefined> {
      const { items } = await registrations.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`TEMP#${temp_key}`}`,
      })
      return items.find((item) => isUnexpired(item, clock))
    },

    /** Newest first. */
    listPending({ limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {}): Promise<
      Page<PendingRegistration>
    > {
      return pending.query({
        index: 'GSI2',
        key: isListed(),
        newestFirst: true,
        limit,
        after,
      })
    },

    /** How many there are, up to `max`. */
    countPending(max: number): Promise<Counted> {
      return countItems(db, isListed(), max)
    },

    /** False if the registration is no longer pending. */
    recordProof(name: RegistrationName, method: ProofMethod): Promise<boolean> {
      return conditionHeld(
        registrations.update(
          registrationKey(name),
          expr`SET ${attr('proved_by')} = ${method}, ${attr('proved_at')} = ${isoNow(clock)}`,
          isPending,
        ),
      )
    },

    /** For a registration that its owner replaces; false if it is no longer pending. */
    expire(name: RegistrationName): Promise<boolean> {
      return conditionHeld(
        registrations.update(
          registrationKey(name),
          expr`SET ${attr('status')} = ${'expired'}, ${attr('GSI1SK')} = ${'STATUS#expired'} REMOVE ${attr('GSI2PK')}, ${attr('GSI2SK')}`,
          isPending,
        ),
      )
    },
  }
}
