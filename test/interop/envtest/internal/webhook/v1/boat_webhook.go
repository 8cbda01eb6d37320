// Package v1 has the webhooks of the project.
package v1

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	harbourv1 "sagong.dev/envtest/api/v1"
)

func SetupBoatWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &harbourv1.Boat{}).
		WithDefaulter(&BoatDefaulter{}).
		WithValidator(&BoatValidator{}).
		Complete()
}

type BoatDefaulter struct{}

func (*BoatDefaulter) Default(_ context.Context, boat *harbourv1.Boat) error {
	if boat.Spec.Seats == 0 {
		boat.Spec.Seats = 4
	}
	return nil
}

type BoatValidator struct{}

func (*BoatValidator) check(boat *harbourv1.Boat) (admission.Warnings, error) {
	if boat.Spec.Seats < 0 {
		return nil, errors.New("a boat has no fewer seats than none")
	}
	return nil, nil
}

func (v *BoatValidator) ValidateCreate(_ context.Context, boat *harbourv1.Boat) (admission.Warnings, error) {
	return v.check(boat)
}

func (v *BoatValidator) ValidateUpdate(_ context.Context, _, boat *harbourv1.Boat) (admission.Warnings, error) {
	return v.check(boat)
}

func (v *BoatValidator) ValidateDelete(context.Context, *harbourv1.Boat) (admission.Warnings, error) {
	return nil, nil
}
