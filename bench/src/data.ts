// The data that every system works on: items of about 1 KB, fifty to a partition, of which
// twenty-five share the sort key prefix that queries ask for.

export const TABLE = 'Bench'
const PER_PARTITION = 50
const PER_QUERY = 25
export const ORDER_PREFIX = 'ORDER#'

/** An order. A type instead of an interface, so that it is assignable to an item. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type Order = {
  pk: string
  sk: string
  status: string
  customer: string
  email: string
  createdAt: string
  total: number
  stock: number
  paid: boolean
  address: { street: string; city: string; zip: string; country: string }
  tags: string[]
  note: string
}

const NOTE = 'Ring twice, leave it with the neighbour, and please do not bend it. '.repeat(10)

// oxlint-disable-next-line typescript/consistent-type-definitions
export type Key = { pk: string; sk: string }

export function keyOf(n: number): Key {
  const within = n % PER_PARTITION
  const prefix = within < PER_QUERY ? ORDER_PREFIX : 'EVENT#'
  return {
    pk: `CUSTOMER#${String(Math.floor(n / PER_PARTITION)).padStart(8, '0')}`,
    sk: `${prefix}2026-01-01T00:00:${String(within).padStart(2, '0')}Z`,
  }
}

/** An item; `version` makes an overwrite differ from what it replaces. */
export function orderOf({ pk, sk }: Key, version = 0): Order {
  return {
    pk,
    sk,
    status: 'awaiting-shipment',
    customer: 'Ada Lovelace',
    email: 'ada.lovelace@example.com',
    createdAt: '2026-01-01T00:00:00.000Z',
    total: 129.95,
    stock: 1_000_000_000 - version,
    paid: true,
    address: { street: '12 St James Square', city: 'London', zip: 'SW1Y 4JH', country: 'GB' },
    tags: ['gift', 'fragile', 'express'],
    note: NOTE,
  }
}

/** The keys for the calls, created before the measurement. */
export class Sample {
  readonly #keys: Key[]

  constructor(count: number) {
    const size = Math.min(Math.max(count, 1), MAX_KEYS)
    this.#keys = Array.from({ length: size }, (_, i) => keyOf(scattered(i, Math.max(count, 1))))
  }

  get keys(): readonly Key[] {
    return this.#keys
  }

  /** The position of the i-th call's key. */
  at(i: number): number {
    return i % this.#keys.length
  }

  /** The key of the i-th call. */
  key(i: number): Key {
    return this.#keys[this.at(i)]!
  }

  /** The items of the i-th transaction: neighbours in the sample, so never the same. */
  three(i: number): [Order, Order, Order] {
    const at = 3 * i
    return [orderOf(this.key(at), i), orderOf(this.key(at + 1), i), orderOf(this.key(at + 2), i)]
  }
}

const MAX_KEYS = 50_000

/** Visits each of 0…count-1 once in a scattered order, the same for every system. */
function scattered(i: number, count: number): number {
  // A step that is coprime to 10ⁿ and 2ⁿ reaches every number.
  return (i * 618_033_989) % count
}
