/** A typical webhook of about 1 KB; the number makes it unique. */
export function webhook(number: number): string {
  return JSON.stringify({
    number,
    id: 'evt_1Q2w3E4r5T6y7U8i9O0pAsDf',
    object: 'event',
    api_version: '2026-01-01',
    type: 'payment_intent.succeeded',
    livemode: false,
    data: {
      object: {
        id: 'pi_3Q2w3E4r5T6y7U8i0AsDfGhJ',
        object: 'payment_intent',
        amount: 4200,
        currency: 'eur',
        status: 'succeeded',
        metadata: { order: 'A-10223', customer: 'cus_QwErTyUiOp' },
        description: 'x'.repeat(560),
      },
    },
    request: { id: 'req_AbCdEfGhIjKlMn', idempotency_key: '6f3a2a7e-8a3e-4d7a-9a7c-7c1f2b3d4e5f' },
  })
}

export function numberIn(body: string): number {
  return (JSON.parse(body) as { number: number }).number
}
