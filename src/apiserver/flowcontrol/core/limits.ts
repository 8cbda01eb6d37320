// Numbers of priority and fairness; upstream's (k8s.io/apiserver/pkg/util/flowcontrol).

/** What a request is thought to take before it is over: work that is charged to its queue at dispatch. */
export const guessedServiceMs = 3;
/** The time between adjustments of what priority levels lend and borrow. */
export const borrowingPeriodMs = 10_000;
/** How slowly remembered demand fades: part of it that is left after one period. */
export const demandSmoothing = 0.977;
/** One request may take this part of a level's own seats. */
export const levelSeatsShareMax = 0.15;
/** Seats of one request, whatever its level. */
export const listSeatsMax = 100;
export const mutatingSeatsMax = 10;
/** Bytes of a list that make one seat; a list from memory is sent in pieces, so that no more than so many are held at once. */
export const bytesPerSeat = 100_000;
export const listBytesHeldMax = 1_000_000;
/** An object that nobody has seen the size of. */
export const unknownObjectBytes = 1_500_000;
/** Watchers of a change that keep one seat busy, and for how long after the write. */
export const watchersPerSeat = 10;
export const watcherWorkMs = 5;
/** The longest time that a refused client is told to wait, in seconds. */
export const retryAfterMaxSeconds = 32;
/**
 * Ours: a queue of which nothing is served, and whose first request has waited for so long, gets seats beyond those of its level, as many as this part
 * of them. Whoever keeps all seats busy by doing nothing, with bodies that do not end or servers that do not answer, keeps no other flow waiting.
 */
export const starvedMs = 100;
export const reliefSeatsShare = 0.25;
/** Hands that are remembered, one for each flow. */
export const handsMax = 10_000;
/**
 * Ours: how much of the thread's time one flow may use while others are served. The part falls, as far as the least one, while the thread is busy for more
 * than `paceBusy` of the time, and grows again, up to all of it, while it is not; by what factor it grows in a second.
 */
export const paceBusy = 0.6;
export const paceShareMin = 0.1;
export const paceGrowthPerSecond = 3;
/** What a flow may use at once before it waits; how much of what it used is remembered, which bounds the wait; and what counts as others being served. */
export const paceAllowanceMs = 200;
export const paceDebtMaxMs = 1_000;
export const paceRecentMs = 1_000;
/** What is charged for an answer that was made before, like a document of megabytes: so many bytes are encrypted and handed to the kernel in a millisecond. */
export const sentBytesPerMs = 1_000_000;
/** Flows with an account. */
export const paceFlowsMax = 10_000;
/** Requests of one flow that wait for its pace, and how long each does; those beyond are answered 429. */
export const paceWaitersMax = 300;
export const paceWaitMaxMs = 15_000;
/** How often it is looked how busy the thread is. */
export const paceLookMs = 200;
