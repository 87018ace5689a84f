/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that do nothing, one for each kind of probe, for calibrate/. Each architecture has its
 * own, built where that is the host's. */
#ifndef PROFTRACE_ARCH_CALIBRATE_SITES_H
#define PROFTRACE_ARCH_CALIBRATE_SITES_H

/* Each begins with an instruction of one site class. */
void calibrate_nop5(void);
void calibrate_nop10(void); /* behind one of one byte: kernels before 7.2 refuse it */
void calibrate_nop(void);
void calibrate_push(void);
void calibrate_jmp(void);
void calibrate_jcc(void);
void calibrate_call(void);
void calibrate_step(void);
void calibrate_emul(void);

/* These begin with a push. They leave by a `ret`, a jump, or a branch that is taken, which stands
 * at the second symbol. */
void calibrate_leaves_by_ret(void);
void calibrate_leaves_by_jmp(void);
void calibrate_leaves_by_jcc(void);
void calibrate_emulated(void); /* a `ret` as well */
extern const char calibrate_ret[], calibrate_exit_jmp[], calibrate_exit_jcc[];
extern const char calibrate_emulated_ret[];

/* More that begin with a push: to be called with caches that hold other things, to be passed over,
 * to be nested, to be entered only, to be over at once, and to be called in turns. */
void calibrate_cold(void);
void calibrate_passed(void);
void calibrate_nested(void);
void calibrate_burdened(void);
void calibrate_entered(void);
void calibrate_closed(void);
void calibrate_turn_a(void);
void calibrate_turn_b(void);

/* Begins with a push, and leaves by a jump to the other, which does so, too. */
void calibrate_tail(void);
void calibrate_target(void);

/* Stands for what a program does between calls; `data` are 2048 numbers. */
void calibrate_program(const long data[2048]);

/* Begins with a push, and calls what it is given. */
void calibrate_outer(void (*function)(void));

#endif
